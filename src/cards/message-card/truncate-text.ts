/** The first `most` characters of a text, without half of one at the end: a card with half of one cannot be sent. */
export function truncateText(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = text.slice(0, most);
  return head.isWellFormed() ? head : head.slice(0, -1).toWellFormed();
}
