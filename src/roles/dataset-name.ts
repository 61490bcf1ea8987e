import type { TaskCard } from "../cards/index.ts";

/**
 * Returns the dataset name of a task from `metadata.dataset`, from `context.dataset` as a fallback, or an
 * empty string. The example in the card specification stores the dataset name in the context.
 */
export function getDatasetName({ metadata }: TaskCard): string {
  const inContext = metadata.context?.["dataset"];
  return metadata.dataset ?? (typeof inContext === "string" ? inContext : "");
}
