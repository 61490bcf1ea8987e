/** What is looked at; what the address says behind `#`. */
export interface ViewState {
  /** `undefined`: the whole run. */
  readonly sampleId: string | undefined;
  /** Counts the problem's cards, from 1. */
  readonly cardNumber: number | undefined;
  readonly view: ViewName;
}

export const VIEW_NAMES = ["sequence", "timeline", "graph", "table"] as const;
export type ViewName = (typeof VIEW_NAMES)[number];

/** `#gsm8k_0`, or `#sample=gsm8k_0&card=3&view=timeline`. */
export function parseViewHash(hash: string): ViewState {
  const text = hash.replace(/^#/, "");
  if (text !== "" && !text.includes("="))
    return { sampleId: tryDecodeUri(text), cardNumber: undefined, view: "sequence" };
  const words = new URLSearchParams(text);
  const card = Number(words.get("card"));
  return {
    sampleId: words.get("sample") ?? undefined,
    cardNumber: Number.isSafeInteger(card) && card > 0 ? card : undefined,
    view: VIEW_NAMES.find((view) => view === words.get("view")) ?? "sequence",
  };
}

export function formatViewHash({ sampleId: sample, cardNumber: card, view }: ViewState): string {
  const isPlain = sample !== undefined && !sample.includes("=") && card === undefined && view === "sequence";
  if (isPlain) return `#${encodeURIComponent(sample)}`;
  const words = new URLSearchParams();
  if (sample !== undefined) words.set("sample", sample);
  if (card !== undefined) words.set("card", String(card));
  if (view !== "sequence") words.set("view", view);
  return `#${words}`;
}

function tryDecodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
