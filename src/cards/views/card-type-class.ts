const STYLED_CARD_TYPES: ReadonlySet<string> = new Set(["task", "result", "query", "control", "error"]);

/** Returns the CSS class of a card type: the name of the core type, or `other` for custom types. */
export function getCardTypeClass(type: string | undefined): string {
  return type !== undefined && STYLED_CARD_TYPES.has(type) ? type : "other";
}
