import type { NextFunction, Request, Response } from 'express';
import type { NodeAPI } from 'node-red';
import { protectRoute } from './origin-check';
import { routes, type Route } from './routes';
import { signInsOf } from '../vehicle/sign-in';
import { translated, wordsOf, wordsOfRequest } from '../node-red/i18n';
import { reportedError } from '../node-red/failures';
import { editorsOf } from '../node-red/editors';
import { parseBody } from '../node-red/options';

/** The handlers of `POST /connected-vehicle/:id/:action` and `GET /connected-vehicle/callback`. */
interface EditorRoutes {
  action(request: Request, response: Response, next: NextFunction): void;
  callback(request: Request, response: Response): void;
}

/**
 * Serves the table of routes: checks permission, sender and body of a request, and
 * translates the answer.
 */
export function editorRoutes(RED: NodeAPI): EditorRoutes {
  const limit = protectRoute(RED);
  const handlers = new Map(
    Object.entries<Route>(routes).map(([action, row]) => {
      const permitted = RED.auth.needsPermission(`connected-vehicle.${row.permission}`);
      const limited = row.hasOwnLimit ? protectRoute(RED) : limit;
      const handle: Handler = (request, response) =>
        permitted(request, response, () =>
          limited(request, response, () => void answer(RED, action, row, request, response)),
        );
      return [action, handle];
    }),
  );
  return {
    action(request, response, next) {
      const handle = handlers.get(String(request.params['action']));
      if (handle === undefined) next();
      else handle(request, response);
    },
    callback: (request, response) =>
      void signInsOf(RED)
        .answerCallback(request, response)
        .then(() => editorsOf(RED).notify()),
  };
}

type Handler = (request: Request, response: Response) => void;

async function answer(RED: NodeAPI, action: string, row: Route, request: Request, response: Response): Promise<void> {
  const words = wordsOfRequest(RED, request);
  try {
    const body = parseBody(row.body, request.body);
    const result = await row.run({ RED, id: String(request.params['id']), words }, body);
    // Diagnostics are for a report to the maintainers, so they stay in English.
    response.json(translated(result, action === 'diagnostics' ? wordsOf(RED, '', 'en-US') : words));
  } catch (error) {
    const { code, sentence, retryAt } = reportedError(RED, action, error, RED.log);
    response.json({ error: translated({ code, message: sentence, retryAt }, words) });
  }
}
