import { escapeHtml, htmlPage, type Answer } from './answer';

/** The path of the page at the real identity service (docs/field-notes.md 4.1). */
export const authorizePath = '/as/authorization.oauth2';

/** The parameters that the page passes from the request to the button. */
const authorizeParameters = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
] as const;

/** The sign-in page: what is asked for, and two buttons. */
export function signInPage(parameters: URLSearchParams): Answer {
  const hidden = authorizeParameters.map(
    (name) => `<input type="hidden" name="${name}" value="${escapeHtml(parameters.get(name) ?? '')}">`,
  );
  const scopes = (parameters.get('scope') ?? '').split(' ').map((scope) => `<li>${escapeHtml(scope)}</li>`);
  const content = `<p>The application asks for:</p><ul>${scopes.join('')}</ul>
<form method="post" action="${authorizePath}">${hidden.join('')}
<button name="decision" value="allow">Sign in</button>
<button name="decision" value="deny">Cancel</button></form>`;
  const page = htmlPage(200, 'Demo sign-in', content);
  return { ...page, headers: { ...page.headers, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } };
}
