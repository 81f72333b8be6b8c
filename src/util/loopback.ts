/** Hosts that name this machine: only to them may a key or token travel over plain http, and never through a proxy. */
export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
