/**
 * Calls back once the process that started this one has ended. A signal to npm ends its shell,
 * and the shell passes it on to nobody; `exec`, which would take the place of the shell, is
 * nothing that Windows has.
 */
export function onceOrphaned(callback) {
  const parent = process.ppid;
  const looks = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looks);
    callback();
  }, 200).unref();
}
