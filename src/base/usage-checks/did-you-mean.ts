/** Returns a sentence that suggests the most similar name, or an empty string if no name is similar. */
export function didYouMean(word: string, names: Iterable<string>): string {
  const all = [...names];
  const closest = all
    .map((name) => ({ name, far: computeEditDistance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, far }) => far < name.length && far <= Math.max(2, Math.floor(name.length / 3)))
    .toSorted((a, b) => a.far - b.far)[0];
  const isLonger = (name: string): boolean => word.length >= 3 && name.startsWith(word);
  const name = closest?.name ?? all.find(isLonger);
  return name === undefined ? "" : ` Did you mean ${name}?`;
}

/** Computes the Levenshtein distance between two words. */
function computeEditDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      const [left = 0, above = 0, corner = 0] = [next[j], row[j + 1], row[j]];
      next.push(Math.min(left + 1, above + 1, corner + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
