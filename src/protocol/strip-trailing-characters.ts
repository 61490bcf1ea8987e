/**
 * Removes all characters at the end of a text that occur in `characters`, for example the slashes of a URL. The
 * function takes linear time. A regular expression such as `/\/+$/` takes quadratic time for a text with many
 * slashes.
 */
export function stripTrailingCharacters(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
