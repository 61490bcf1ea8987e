/**
 * Returns at most the first `maxLength` characters of a text, without splitting a surrogate pair at the end.
 * A card with half a surrogate pair cannot be sent.
 */
export function truncateText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const head = text.slice(0, maxLength);
  return head.isWellFormed() ? head : head.slice(0, -1).toWellFormed();
}
