/**
 * Returns at most the first `maxLength` characters of a text and never splits a surrogate pair. A message
 * card with an unpaired surrogate cannot be sent as UTF-8.
 */
export function truncateText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const head = text.slice(0, maxLength);
  return head.isWellFormed() ? head : head.slice(0, -1).toWellFormed();
}
