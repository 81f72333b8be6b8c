import { isRecord } from '../util/json';
import { oddAnswer, unwrap, type Parsed } from './readings';
import { toNumber, toTimestamp } from './schemas';

/** The position of the car at the end of its last trip (docs/message-contract.md 3); an unknown part is null. */
interface VehicleLocation {
  /** Degrees, WGS 84; null together with `longitude`. */
  latitude: number | null;
  longitude: number | null;
  /** Meters. */
  altitude: number | null;
  /** Degrees clockwise from north, 0 to below 360. */
  heading: number | null;
  /** ISO-8601; null means that the age is unknown, not that it is new. */
  timestamp: string | null;
}

/** A GeoJSON feature (docs/energy-location-api.md 3): the longitude comes first. */
export function parseLocation(body: unknown): Parsed<VehicleLocation> {
  const feature = unwrap(body);
  const { geometry, properties } = feature;
  if (!isRecord(geometry) && !isRecord(properties)) throw oddAnswer();
  const { coordinates = null, type = 'Point' } = isRecord(geometry) ? geometry : {};
  const [longitude, latitude, altitude] =
    type === 'Point' && Array.isArray(coordinates) ? coordinates.slice(0, 3).map(toNumber) : [];
  const isKnown = isWithin(latitude, 90) && isWithin(longitude, 180) && (latitude !== 0 || longitude !== 0);
  const { heading = null, timestamp = null } = isRecord(properties) ? properties : {};
  const degrees = toNumber(heading);
  const measuredAt = toTimestamp(timestamp);
  return {
    payload: {
      latitude: isKnown ? latitude : null,
      longitude: isKnown ? longitude : null,
      altitude: isKnown ? (altitude ?? null) : null,
      heading: degrees !== null && degrees >= 0 && degrees <= 360 ? degrees % 360 : null,
      timestamp: measuredAt,
    },
    measuredAt,
  };
}

const isWithin = (degrees: number | null | undefined, limit: number): degrees is number =>
  typeof degrees === 'number' && Math.abs(degrees) <= limit;
