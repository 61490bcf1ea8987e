import type { TaskCard } from "../index.ts";

/**
 * Returns the dataset name of a task from `metadata.dataset`, or else from `context.dataset`. Returns an
 * empty string if a task has no dataset name. In the example of the card specification, the context contains
 * the dataset name.
 */
export function getTaskDatasetName({ metadata }: TaskCard): string {
  const inContext = metadata.context?.["dataset"];
  return metadata.dataset ?? (typeof inContext === "string" ? inContext : "");
}
