/** A longer word is not a misspelt name. */
const maxLength = 64;

/**
 * The name that a misspelt word most likely means: a few edits away at most, apart from case and
 * separators. Undefined if none is near.
 */
export function closestName(word: string, names: readonly string[]): string | undefined {
  const wanted = plain(word);
  if (wanted === '' || wanted.length > maxLength) return undefined;
  let best: { name: string; edits: number } | undefined;
  for (const name of names) {
    const edits = editsBetween(wanted, plain(name));
    if (edits <= Math.max(1, Math.floor(wanted.length / 4)) && edits < (best?.edits ?? Infinity))
      best = { name, edits };
  }
  return best?.name;
}

const plain = (word: string): string => word.toLowerCase().replace(/[\s_-]/g, '');

/** Levenshtein distance, where two neighbours that changed places count as one edit. */
function editsBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        row > 1 && column > 1 && isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[other.length] ?? 0;
}
