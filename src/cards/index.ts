/**
 * CARDS BETWEEN ROLES. A controller, planners and solvers speak in cards of six members. Here is what a card is, how it
 * travels, what a run of them leaves behind, what that says and how it is shown. What only other rooms need is in
 * `internal.ts`.
 *
 * Glossary, beside that of `protocol/`
 * - card: here a message between roles. What an agent says of itself is its agent card.
 * - role: who sends and gets cards: controller, planner, solver, and those that a protocol adds.
 * - reply: the one result or error that a task gets. A notice is an error that replies to nothing.
 * - problem: what a controller is given to be solved; in a dataset, on cards and in options a sample.
 * - run: problems that one method solves, and their record. In `engine/` it is an agent at work on one turn.
 * - turn: a decision of the planner's model; an attempt is a try of a subtask.
 * - call: of a model. Its usage is on one card.
 * - record: the lines of a run's file; a recording is what they say, read.
 * - evidence: what stands behind the answers: a model, an oracle, a simulation.
 * - relay: telling whoever gave a task of the cards exchanged about it.
 * - seed: the specification of these cards; what has its name is as it stands there.
 */

// The card: made, read, and with types and roles of your own.
export {
  A2ACardProtocol,
  type Card,
  type CardMetadata,
  type CardOf,
  type CardProtocol,
  type CardProtocolOptions,
  type CardType,
  type CardTypeOptions,
  type CardUsage,
  type ControlCard,
  type ControlMetadata,
  CONTROLLER,
  type CoreCard,
  type CoreErrorType,
  type CoreRole,
  createCardProtocol,
  defineCardType,
  type ErrorCard,
  type ErrorMetadata,
  fromJson,
  type Members,
  parseCard,
  PLANNER,
  type QueryCard,
  type QueryMetadata,
  type Reading,
  type RequiredMember,
  type ResultCard,
  type ResultMetadata,
  type ResultStatus,
  type Route,
  type Rule,
  rules,
  SOLVER,
  type TaskCard,
  type TaskMetadata,
  timeOf,
  toDict,
  toJson,
} from "./card/index.ts";

// A card in A2A, for agents that are served or called without `colloquy/cards`.
export {
  CARD_EXTENSION,
  CARD_MEDIA_TYPE,
  cardExtension,
  type CardExtensionParams,
  cardIn,
  fromCardParts,
  speaksCards,
  toCardParts,
} from "./a2a/index.ts";

// The record of a run: written, read, and asked.
export {
  type CallLine,
  type CallSeen,
  type CardCarrier,
  type CardLine,
  type CardSeen,
  cardsOf,
  type Clock,
  createRecorder,
  decodeCards,
  type DecodeOptions,
  decodeRecording,
  type EndLine,
  exportSeed,
  memorySink,
  mergeRecordings,
  type Moments,
  type NamedRecording,
  type Recorder,
  type RecorderOptions,
  type Recording,
  recordingOfCards,
  type RecordLine,
  type RecordSink,
  type RunLine,
  type RunRecorder,
  type RunSample,
  type RunSeen,
  samplesOf,
  type ScoreLine,
  type ScoreSeen,
  type TornLine,
} from "./record/index.ts";

// What a run says, and whether two differ.
export {
  type Against,
  type BootstrapOptions,
  type Bottleneck,
  compareRuns,
  type Comparison,
  comparisonOf,
  type ComparisonOptions,
  type ComparisonReport,
  type ComparisonRow,
  type Confidence,
  type EqualBudget,
  type Estimate,
  type Evidence,
  type Figures,
  figuresOf,
  type Finding,
  type FindingKind,
  FINDINGS,
  type KindOfFinding,
  type Latency,
  latencyOf,
  type Ledger,
  mcnemar,
  type McNemar,
  type Mismatch,
  pairedBootstrap,
  priceOf,
  type Report,
  reportOf,
  type ReportOptions,
  type RoleTime,
  scoredRunOf,
  type ScoredRun,
  type ScoredSample,
  seedEfficiency,
  type SeedFigures,
  seedFigures,
  type Spending,
  spendingOf,
  type Spread,
  type Tariff,
  type TimeReport,
  type TokenReport,
  type Tokens,
  wilson,
} from "./statistics/index.ts";

// How cards are shown, and a run for other tools.
export {
  type BoxOptions,
  type CardGraph,
  type FlowOptions,
  generateFlowDiagram,
  type GraphEdge,
  graphMermaidOf,
  type GraphNode,
  graphOf,
  graphSvgOf,
  lanesOf,
  type LanesOptions,
  mermaidOf,
  type Shown,
  type Span,
  spansOf,
  svgOf,
  type SvgOptions,
  timelineOf,
  type TimelineOptions,
  visualizeCards,
  type VisualizeOptions,
} from "./views/index.ts";
export { htmlOf, type HtmlOptions } from "./html/index.ts";
export {
  otlpOf,
  perfettoOf,
  type ResponseTrace,
  TRACEABILITY_EXTENSION,
  traceabilityOf,
  type TraceOptions,
  type TraceStep,
} from "./exports/index.ts";

// The problems, how their answers are scored, and what solves them without a model.
export {
  decodeGsm8k,
  decodeHotpotQa,
  decodeRecorded,
  decodeSocratic,
  type GsmSample,
  gsm8kSlice,
  type GsmStep,
  type HotpotSample,
  joinSocratic,
  type Paragraph,
  RECORDED_MODELS,
  type RecordedAnswer,
  type RecordedModel,
  type RecordedSample,
  type Sample,
  type SupportingFact,
} from "./data/index.ts";
export {
  type GsmRule,
  type GsmScore,
  normalizeAnswer,
  type Overlap,
  scoreGsm8k,
  scoreHotpotAnswer,
  scoreJoint,
  scoreSupportingFacts,
} from "./scoring/index.ts";
export { evaluate } from "./oracle/index.ts";
export { ParagraphRouter } from "./retrieval/index.ts";

// Used by other rooms only; no entry exports it.
export {
  cardInMetadata,
  type Envelope,
  envelopeOf,
  isTraceparent,
  MAX_HOPS,
  nextTraceparent,
  toCardMetadata,
  toEnvelopeMetadata,
} from "./a2a/index.ts";
export { cut } from "./card/index.ts";
export { liveHtmlOf } from "./html/index.ts";
export { batchSteps, oracleAnswer, oraclePlan, type OracleStep, writeNumber } from "./oracle/index.ts";
export { decodeLine, doneSamples, momentsOf, readLine, seedFileName } from "./record/index.ts";
export { wordsOf } from "./retrieval/index.ts";
export { lastNumber, strictAnswer } from "./scoring/index.ts";
export { criticalPathOf, seeded } from "./statistics/index.ts";
export { fit, widthOf } from "./views/index.ts";
