/** HOW CARDS ARE SHOWN, as text: pure functions of a row of cards. What agents wrote is made harmless for where it is shown. */
export { type BoxOptions, visualizeCards } from "./boxes.ts";
export { type FlowOptions, generateFlowDiagram } from "./flow.ts";
export { mermaidOf } from "./mermaid.ts";
