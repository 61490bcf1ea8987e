/** What is looked at; what the address says behind `#`. */
export interface Place {
  /** `undefined`: the whole run. */
  readonly sample: string | undefined;
  /** Counts the problem's cards, from 1. */
  readonly card: number | undefined;
  readonly view: View;
}

export const VIEWS = ["sequence", "timeline", "graph", "table"] as const;
export type View = (typeof VIEWS)[number];

/** `#gsm8k_0`, or `#sample=gsm8k_0&card=3&view=timeline`. */
export function placeOf(hash: string): Place {
  const text = hash.replace(/^#/, "");
  if (text !== "" && !text.includes("=")) return { sample: decoded(text), card: undefined, view: "sequence" };
  const words = new URLSearchParams(text);
  const card = Number(words.get("card"));
  return {
    sample: words.get("sample") ?? undefined,
    card: Number.isSafeInteger(card) && card > 0 ? card : undefined,
    view: VIEWS.find((view) => view === words.get("view")) ?? "sequence",
  };
}

export function hashOf({ sample, card, view }: Place): string {
  const isPlain = sample !== undefined && !sample.includes("=") && card === undefined && view === "sequence";
  if (isPlain) return `#${encodeURIComponent(sample)}`;
  const words = new URLSearchParams();
  if (sample !== undefined) words.set("sample", sample);
  if (card !== undefined) words.set("card", String(card));
  if (view !== "sequence") words.set("view", view);
  return `#${words}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
