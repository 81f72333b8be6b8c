export function printTable(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = heading.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `      ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  console.log([heading, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n'));
}
