/** State of the view of a run, which the URL fragment stores. */
export interface ViewState {
  /** ID of the selected problem, or `undefined` for the entire run. */
  readonly sampleId: string | undefined;
  /** Number of the selected message card within its problem, starting at 1. */
  readonly cardNumber: number | undefined;
}

/**
 * Parses a URL fragment such as `#/cards?sample=gsm8k_0&card=3`. The fragments of earlier versions have
 * no path: `#gsm8k_0` and `#sample=gsm8k_0&card=3`.
 */
export function parseViewHash(hash: string): ViewState {
  const text = hash.replace(/^#(?:\/cards(?:\?|$))?/, "");
  if (text !== "" && !/[=/]/.test(text))
    return { sampleId: decodeUriOrKeepText(text), cardNumber: undefined };
  const params = new URLSearchParams(text);
  const card = Number(params.get("card"));
  return {
    sampleId: params.get("sample") ?? undefined,
    cardNumber: Number.isSafeInteger(card) && card > 0 ? card : undefined,
  };
}

/** Formats a view state as a URL fragment. */
export function formatViewHash({ sampleId, cardNumber }: ViewState): string {
  const params = new URLSearchParams();
  if (sampleId !== undefined) params.set("sample", sampleId);
  if (cardNumber !== undefined) params.set("card", String(cardNumber));
  return params.size === 0 ? "#/cards" : `#/cards?${params}`;
}

function decodeUriOrKeepText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
