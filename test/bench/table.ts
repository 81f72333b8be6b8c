/** One line of the report: a number with its limit, or words. */
export interface Row {
  what: string;
  value: number | string;
  /**
   * What is held now. The ratios of `throughput` vary by a factor of two on a machine that is busy,
   * so their limits are wide.
   */
  atMost?: number;
  atLeast?: number;
  /** What the limit is to become, in the same direction. */
  aim?: number;
  unit?: string;
}

export const passed = ({
  value,
  atMost = Number.POSITIVE_INFINITY,
  atLeast = Number.NEGATIVE_INFINITY,
}: Row): boolean => typeof value === 'string' || (value <= atMost && value >= atLeast);

const written = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 2 : 1);

/** A row without limits, without an aim, or that meets its aim, has empty cells there. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { what, value, atMost, atLeast, aim, unit = '' } = row;
    const withUnit = (text: string): string => `${text}${unit && ` ${unit}`}`;
    const [direction, limit] = atMost === undefined ? (['at least', atLeast] as const) : (['at most', atMost] as const);
    const isShort = aim !== undefined && !passed({ what, value, [atMost === undefined ? 'atLeast' : 'atMost']: aim });
    return [
      what,
      withUnit(typeof value === 'string' ? value : written(value)),
      limit === undefined ? '' : withUnit(`${direction} ${written(limit)}`),
      limit === undefined ? '' : passed(row) ? 'pass' : 'FAIL',
      isShort ? withUnit(`aim: ${direction} ${written(aim)}`) : '',
    ];
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
