import * as z from 'zod/mini';

/** The request body of the configuration dialog. Every length is limited, because it comes from a browser. */
const shortText = z.string().check(z.maxLength(500));
const longText = z.string().check(z.maxLength(20_000));

/** Null: not typed, so the stored one is meant. */
const typed = z._default(z.nullable(longText), null);

export const formBody = z.lazy(() =>
  z.object({
    /** As typed: a number may be the name of an environment variable still. */
    options: z.record(z.string(), z.unknown()),
    credentials: z.object({
      apiKey: typed,
      accessToken: typed,
      clientId: typed,
      clientSecret: typed,
      refreshToken: typed,
    }),
    /** The address of this editor. A sign-in without a redirect URL returns to it. */
    callback: z._default(shortText, ''),
    /** The nodes of the flows that use the configuration. */
    nodes: z._default(
      z
        .array(
          z.object({
            label: shortText,
            reads: z.array(shortText).check(z.maxLength(100)),
            commands: z.array(shortText).check(z.maxLength(100)),
          }),
        )
        .check(z.maxLength(1000)),
      [],
    ),
  }),
);
export type FormBody = z.infer<typeof formBody>;

/** The address that the browser was sent to, pasted back. */
export const finishBody = z.object({ redirected: longText });

/** The read that a status form shows. */
export const readBody = z.object({
  vin: z._default(shortText, ''),
  reads: z.array(shortText).check(z.minLength(1), z.maxLength(100)),
  interface: z._default(shortText, 'auto'),
});

/** The event that a test sends. */
export const testBody = z.object({ event: z.optional(shortText) });

/** Whether the last answers of the service are wanted as well. */
export const diagnosticsBody = z.object({ answers: z._default(z.boolean(), false) });

/** The vehicle of a node; empty: that of the configuration. */
export const vehicleBody = z.object({ vin: z._default(shortText, '') });
