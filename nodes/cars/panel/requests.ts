import type { CarClick } from '../../../src/simulator/index';
import type { Line } from '../../editor/vehicle-checks';
import type { Answer, Refusal } from '../../editor/runtime-request';
import type { CarPicture, CarSummary } from '../runtime/cars';

const { ask, checkFindings, errorText, wordsOf } = connectedVehicle;

const say = wordsOf('connected-vehicle-cars');

/** The panel sends these requests to the runtime. Most return the lines to show. */

export const request = <Members>(id: string, action: string, body: object = {}): Promise<Answer<Members>> =>
  new Promise((resolve) => ask<Members>(id, action, body, resolve));

const problem = (refusal: Refusal): Line => [errorText(refusal), true];

export const buttonActions = {
  async read({ key }: CarSummary): Promise<Line[]> {
    const { failed = [], error } = await request<{ failed: Refusal[] }>(key, 'read-car');
    const refused = error ? [error] : failed;
    return refused.length > 0 ? refused.map(problem) : [[say('state.read')]];
  },
  check: ({ config }: CarSummary): Promise<Line[]> => new Promise((resolve) => checkFindings(config, resolve)),
  async diagnostics({ config }: CarSummary): Promise<Line[]> {
    const { diagnostics, error } = await request<{ diagnostics: object }>(config, 'diagnostics');
    if (error) return [problem(error)];
    RED.clipboard.copyText(JSON.stringify(diagnostics, null, 2));
    return [[say('state.copied')]];
  },
};

export async function sendClick({ key }: CarSummary, click: CarClick): Promise<Line[]> {
  const { error } = await request<object>(key, 'click', click);
  return error ? [problem(error)] : [];
}

/** The addresses of pictures of the car, or why there are none. */
export async function askPictures({ key }: CarSummary): Promise<CarPicture[] | string> {
  const { pictures = [], error } = await request<{ pictures: CarPicture[] }>(key, 'pictures');
  return error ? errorText(error) : pictures;
}

/** The address of a map with the last position of the car; null if that cannot be shown. */
export async function askMap({ key }: CarSummary): Promise<string | null> {
  const { position } = await request<{ position: string | null }>(key, 'position');
  const [latitude, longitude] = position?.split('/') ?? [];
  return longitude === undefined
    ? null
    : `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${position}`;
}
