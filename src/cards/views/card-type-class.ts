const STYLED_CARD_TYPES: ReadonlySet<string> = new Set(["task", "result", "query", "control", "error"]);

/** Returns the CSS class of a card type: the name of a core type, or `other`. */
export function getCardTypeClass(type: string | undefined): string {
  return type !== undefined && STYLED_CARD_TYPES.has(type) ? type : "other";
}
