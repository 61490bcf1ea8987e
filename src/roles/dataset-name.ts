import type { TaskCard } from "../cards/index.ts";

/** The dataset of a task: from its metadata, else from its context, where the specification's own example has it. */
export function getDatasetName({ metadata }: TaskCard): string {
  const inContext = metadata.context?.["dataset"];
  return metadata.dataset ?? (typeof inContext === "string" ? inContext : "");
}
