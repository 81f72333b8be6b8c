/*
 * Loaded before the specs, in each process of Mocha (`require` of .mocharc.json and of
 * scripts/mocha.mjs): what the tests and the processes that they start, such as a Node-RED or a
 * browser, find in the environment. They speak English, use no proxy, and read no settings of this
 * machine. Node-RED takes the language of its messages from these variables, and the pack follows
 * it. The time zone and the umask stay those of the machine: a test that depends on one sets it.
 */
const isOfTheMachine = (name: string): boolean =>
  /^(?:(?:https?|all|no)_proxy|npm_config_(?:https?-?_?proxy|proxy|noproxy)|LANG|LANGUAGE|LC_\w+|CONNECTED_VEHICLE_\w+|NODE_TLS_REJECT_UNAUTHORIZED|NODE_USE_ENV_PROXY|NODE_RED_\w+|PORT)$/i.test(
    name,
  ) && name !== 'NODE_RED_PATH';

for (const name of Object.keys(process.env)) if (isOfTheMachine(name)) delete process.env[name];
process.env['LANG'] = 'en_US.UTF-8';
