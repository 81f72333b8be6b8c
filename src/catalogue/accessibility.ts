/** The reasons that the service is known to give (docs/field-notes.md 1.8); the set is open. */
const unavailableReasons: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ['NO_INTERNET', 'it has no connection'],
  ['POWER_SAVING_MODE', 'it saves power after some days of rest and wakes up when somebody starts it'],
  ['CAR_IN_USE', 'it is in use'],
  ['OTA_INSTALLATION_IN_PROGRESS', 'it installs new software'],
]);

/** Says why the car takes no commands, and that none was sent. */
export const unavailableSentence = (reason: string | null): string =>
  `The car takes no commands now: ${unavailableReasons.get(reason ?? '') ?? 'the service does not say why'}. The command was not sent.`;
