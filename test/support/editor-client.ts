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

/**
 * Signs in as a person does in the editor of a real Node-RED.
 * @param routes the address of the routes of the configuration, with a slash at the end
 * @param options of the configuration
 * @param credentials needed if the configuration may not run yet
 */
export async function signInWithEditor(
  routes: string,
  options: object,
  credentials: Record<string, string> = {},
): Promise<void> {
  const ask = async (action: string, body: object): Promise<EditorAnswer> => {
    const headers = { 'content-type': 'application/json' };
    const answer = (await (
      await fetch(routes + action, { method: 'POST', headers, body: JSON.stringify(body) })
    ).json()) as EditorAnswer; // The shape of every answer of these routes.
    if (answer.error) throw new Error(answer.error.message);
    return answer;
  };
  const callback = 'http://localhost:1880/connected-vehicle/callback';
  const { url } = await ask('sign-in', formOf(options, credentials, { callback }));
  await ask('sign-in-finish', { redirected: await signInAtPage(String(url)) });
}
