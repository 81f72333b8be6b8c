/** One line of the report: a number with its threshold, or words. */
export interface Row {
  what: string;
  value: number | string;
  atMost?: number;
  atLeast?: number;
  /** Where the threshold is not met yet: what `.ci/run` holds instead, so that a fall is noticed on a busy machine, too. */
  reached?: number;
  unit?: string;
}

export const passed = ({
  value,
  atMost = Number.POSITIVE_INFINITY,
  atLeast = Number.NEGATIVE_INFINITY,
}: Row): boolean => typeof value === 'string' || (value <= atMost && value >= atLeast);

/** Whether it meets its threshold, or is no worse than what was reached. */
export const holds = ({ reached, ...row }: Row): boolean =>
  passed(row) ||
  (reached !== undefined && passed({ ...row, [row.atMost === undefined ? 'atLeast' : 'atMost']: reached }));

const written = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 2 : 1);

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { what, value, atMost, atLeast, unit = '' } = row;
    const asked =
      atMost !== undefined ? `at most ${written(atMost)}` : atLeast !== undefined ? `at least ${written(atLeast)}` : '';
    return [
      what,
      `${typeof value === 'string' ? value : written(value)}${unit && ` ${unit}`}`,
      asked && `${asked}${unit && ` ${unit}`}`,
      asked === '' ? '' : passed(row) ? 'pass' : 'FAIL',
    ];
  });
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
