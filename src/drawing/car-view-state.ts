/** The state of a car as the drawing of it shows it (src/drawing/car-view.ts). */
import { openingKeys, type OpeningKey } from '../catalogue/openings';

/** `absent`: the car does not have it; it is not drawn. */
export type OpeningState = 'open' | 'ajar' | 'closed' | 'unknown' | 'absent';

export type OpeningName = Exclude<OpeningKey, 'carLocked'>;
export const openingNames = /* @__PURE__ */ openingKeys.filter((key): key is OpeningName => key !== 'carLocked');

/** A part that can be clicked if the drawing is interactive. */
export type CarPart = OpeningName | 'lock' | 'plug';

export interface CarViewState extends Record<OpeningName, OpeningState> {
  /** Unknown openings that the user has not set: drawn lightly, without a word beside them. */
  notRead?: ReadonlySet<OpeningName>;
  /** Null: unknown. */
  locked: boolean | null;
  /** Whether a cable is connected. Null: unknown. Absent: the car has no charge port. */
  plugged?: boolean | null;
  /** The service's word: `CHARGING`, `DONE`, … Null: unknown. */
  chargingStatus?: string | null;
  /** Percent. Null: unknown. Absent: the car has no battery to drive with. */
  level?: number | null;
  /** Null: unknown. Absent: the car has no tank. */
  fuel?: number | null;
  /** In words. Absent: liters. */
  fuelUnit?: string;
  engineRunning: boolean | null;
  /** Whether a climatization is assumed to run. No read shows it. */
  climateRunning?: boolean;
}
