/** Largest number of attempts to shorten one input. */
const MAX_ATTEMPTS = 200;

/**
 * Shortens a text as long as it still fails: removes halves, then quarters, and so on. Long inputs hide the reason of a
 * finding, and the corpus keeps only short ones.
 */
export async function minimizeText(
  text: string,
  stillFails: (shorter: string) => Promise<boolean>,
): Promise<string> {
  let shortest = text;
  let attempts = 0;
  for (let size = Math.ceil(text.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < shortest.length && attempts < MAX_ATTEMPTS;) {
      const shorter = shortest.slice(0, start) + shortest.slice(start + size);
      attempts++;
      if (await stillFails(shorter)) shortest = shorter;
      else start += size;
    }
  }
  return shortest;
}
