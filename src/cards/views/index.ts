/** HOW CARDS ARE SHOWN, as text: pure functions of a row of cards. What agents wrote is made harmless for where it is shown. */
export { type BoxOptions } from "./boxes.ts";
export { type Delegation, type Delegations, delegationsOf, type Span } from "./delegations.ts";
export { type Exchange, exchangesOf, type Shown, spansOf } from "./exchanges.ts";
export { type FlowOptions, generateFlowDiagram } from "./flow.ts";
export { mermaidOf } from "./mermaid.ts";
export { visualizeCards, type VisualizeOptions } from "./visualize-cards.ts";
