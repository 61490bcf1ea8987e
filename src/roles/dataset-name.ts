import type { TaskCard } from "../cards/index.ts";

/**
 * Returns the dataset of a task: `metadata.dataset`, else `context.dataset`, else an empty string. The
 * example in the card specification stores the dataset in the context.
 */
export function getDatasetName({ metadata }: TaskCard): string {
  const inContext = metadata.context?.["dataset"];
  return metadata.dataset ?? (typeof inContext === "string" ? inContext : "");
}
