/** Variables of the environment while something is done. @param values undefined: not set */
export async function withEnvironment<Result>(
  values: Record<string, string | undefined>,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const set = (all: typeof values): void => {
    for (const [name, value] of Object.entries(all))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  };
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
  set(values);
  try {
    return await work();
  } finally {
    set(before);
  }
}
