/**
 * Text views of message cards.
 * All views are pure functions that accept a list of message cards. The views escape text from agents for each output format.
 */

export { buildDelegatedTaskForest, type Delegation } from "./delegated-task-forest.ts";
export { formatCardMetadataValue } from "./card-metadata-value.ts";
export { getCardTypeClass } from "./card-type-class.ts";
export { buildSampleDelegationForests, flattenDelegations } from "./sample-delegation-forests.ts";
export { type FlowDiagramOptions, generateFlowDiagram } from "./flow-diagram.ts";
export { renderSequenceText, type SequenceTextOptions } from "./sequence-text.ts";
export { renderSequenceMermaid } from "./sequence-mermaid.ts";
export {
  escapeControlCharacters,
  fitToColumns,
  measureColumns,
  toSingleLine,
  truncateLine,
} from "./text-width.ts";
export { visualizeCards, type VisualizeOptions } from "./visualize-cards.ts";
