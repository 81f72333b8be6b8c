import helper = require('node-red-node-test-helper');

export type EditorAnswer = Record<string, unknown> & {
  error?: { code: string; message: string; retryAt: string | null };
};

/** What the dialogs of the editor send to the runtime of a test flow. */
export async function askEditor(
  action: string,
  body: object = {},
  { id = 'v', headers = {} }: { id?: string; headers?: Record<string, string> } = {},
): Promise<EditorAnswer> {
  const request = helper.request().post(`/connected-vehicle/${id}/${action}`);
  const response = await request.set(headers).set('content-type', 'application/json').send(JSON.stringify(body));
  return response.body as EditorAnswer;
}

/** The body of a form: what it shows and what was typed into its password fields. */
export const formOf = (options: object, credentials: Record<string, string> = {}, more: object = {}): object => ({
  options,
  credentials,
  ...more,
});

/** The browser follows the sign-in page: answers where it was sent to. */
export async function signInAtPage(url: string, decision: 'allow' | 'deny' = 'allow'): Promise<string> {
  const { origin, pathname, searchParams } = new URL(url);
  searchParams.set('decision', decision);
  const response = await fetch(origin + pathname, { method: 'POST', body: searchParams, redirect: 'manual' });
  const location = response.headers.get('location');
  if (location === null) throw new Error(`The sign-in page answered ${response.status}`);
  return location;
}
