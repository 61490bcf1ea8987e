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
  type MessageCard,
  type CardMetadata,
  type CardOfType,
  type CardProtocol,
  type CardProtocolOptions,
  type CardType,
  type CardTypeOptions,
  type CardTokenUsage,
  type ControlCard,
  type ControlCardMetadata,
  CONTROLLER,
  type CoreCard,
  type CoreCardErrorType,
  type CoreRole,
  createCardProtocol,
  defineCardType,
  type ErrorCard,
  type ErrorCardMetadata,
  fromJson,
  type FieldRules,
  parseCard,
  PLANNER,
  type QueryCard,
  type QueryCardMetadata,
  type ValidationContext,
  type RequiredField,
  type ResultCard,
  type ResultCardMetadata,
  type ResultCardStatus,
  type CardRoute,
  type FieldRule,
  rules,
  SOLVER,
  type TaskCard,
  type TaskCardMetadata,
  parseCardTime,
  toDict,
  toJson,
} from "./message-card/index.ts";

// A card in A2A, for agents that are served or called without `colloquy/cards`.
export {
  MESSAGE_CARD_EXTENSION_URI,
  MESSAGE_CARD_MEDIA_TYPE,
  createMessageCardExtension,
  type MessageCardExtensionParams,
  findCardInMessage,
  findCardInParts,
  supportsMessageCards,
  toCardParts,
} from "./a2a/index.ts";

// The record of a run: written, read, and asked.
export {
  type ModelCallLine,
  type ModelCallRecordInput,
  type CardTransportInfo,
  type CardLine,
  type CardRecordInput,
  listRecordedCards,
  type ClockAdjustment,
  createRecorder,
  decodeCards,
  type DecodeRecordingOptions,
  decodeRecording,
  type EndLine,
  type EvidenceKind,
  toSpecificationCards,
  createMemorySink,
  mergeRecordings,
  type CardTiming,
  type NamedRecording,
  type CardRecorder,
  type RecorderOptions,
  type Recording,
  createRecordingFromCards,
  type RecordLine,
  type RecordSink,
  type RunLine,
  type RunRecorder,
  type RunSample,
  type RunRecordInput,
  collectRunSamples,
  type ScoreLine,
  type ScoreRecordInput,
  type TornLine,
} from "./recording/index.ts";

// What a run says, and whether two differ.
export {
  type BaselineComparison,
  type BootstrapOptions,
  type Bottleneck,
  compareRuns,
  type RunComparison,
  buildComparisonReport,
  type ComparisonReportOptions,
  type ComparisonReport,
  type ComparisonRow,
  type ConfidenceLevel,
  type EqualBudgetComparison,
  type IntervalEstimate,
  type CardStatistics,
  computeCardStatistics,
  type RunFinding,
  type RunFindingKind,
  RUN_FINDING_KINDS,
  type RunFindingKindInfo,
  type ReplyLatency,
  summarizeReplyLatency,
  type TokenLedger,
  computeMcNemarTest,
  type McNemarResult,
  type TokenMismatch,
  computePairedBootstrap,
  computeTokenPrice,
  type RunReport,
  buildRunReport,
  type RunReportOptions,
  type RoleTime,
  toScoredRun,
  type ScoredRun,
  type ScoredSample,
  computeAccuracyPerThousandTokens,
  type SpecificationStatistics,
  computeSpecificationStatistics,
  type RoleSpending,
  summarizeRoleSpending,
  type DistributionSummary,
  type TokenTariff,
  type TimeReport,
  type TokenReport,
  type TokenCounts,
  computeWilsonInterval,
} from "./statistics/index.ts";

// How cards are shown, and a run for other tools.
export {
  type CardBoxOptions,
  type RoleGraph,
  type FlowDiagramOptions,
  generateFlowDiagram,
  type RoleGraphEdge,
  renderRoleGraphMermaid,
  type RoleGraphNode,
  buildRoleGraph,
  renderRoleGraphSvg,
  renderSequenceText,
  type SequenceTextOptions,
  renderSequenceMermaid,
  type CardsOrRecording,
  type WorkSpan,
  listWorkSpans,
  renderSequenceSvg,
  type SequenceSvgOptions,
  renderTimelineText,
  type TimelineTextOptions,
  visualizeCards,
  type VisualizeOptions,
} from "./views/index.ts";
export { renderHtmlReport, type HtmlReportOptions } from "./html/index.ts";
export {
  toOtlpTraces,
  toPerfettoTrace,
  type ResponseTrace,
  TRACEABILITY_EXTENSION,
  toResponseTraces,
  type TraceExportOptions,
  type TraceStep,
} from "./exporters/index.ts";

// The problems, how their answers are scored, and what solves them without a model.
export {
  decodeGsm8k,
  decodeHotpotQa,
  decodeGsm8kModelAnswers,
  decodeGsm8kSocratic,
  type Gsm8kSample,
  getGsm8kSlice,
  type Gsm8kStep,
  type HotpotQaSample,
  mergeSocraticSteps,
  type Paragraph,
  GSM8K_ANSWER_MODELS,
  type Gsm8kModelAnswer,
  type Gsm8kAnswerModel,
  type Gsm8kModelAnswers,
  type DatasetSample,
  type SupportingFact,
} from "./datasets/index.ts";
export {
  type Gsm8kScoringRule,
  type Gsm8kScore,
  normalizeAnswer,
  type OverlapScore,
  scoreGsm8k,
  scoreHotpotQaAnswer,
  scoreHotpotQaJoint,
  scoreSupportingFacts,
} from "./scoring/index.ts";
export { evaluateArithmetic } from "./oracle/index.ts";
export { ParagraphRanker } from "./retrieval/index.ts";

// Used by other rooms only; no entry exports it.
export {
  findCardInMetadata,
  type CardEnvelope,
  decodeCardEnvelope,
  isTraceparent,
  MAX_HOPS,
  createChildTraceparent,
  encodeCardInMetadata,
  encodeCardEnvelope,
} from "./a2a/index.ts";
export { truncateText } from "./message-card/index.ts";
export { renderLiveHtmlReport } from "./html/index.ts";
export {
  batchSteps,
  getOracleAnswer,
  createOraclePlan,
  type OracleStep,
  formatNumber,
} from "./oracle/index.ts";
export {
  decodeRecordLine,
  collectScoredSampleIds,
  computeCardTimings,
  parseRecordLine,
  formatSpecificationFileName,
} from "./recording/index.ts";
export { tokenizeWords } from "./retrieval/index.ts";
export { findLastNumber, findStrictAnswer } from "./scoring/index.ts";
export { computeCriticalPath, createSeededRandom } from "./statistics/index.ts";
export { fitToColumns, measureColumns } from "./views/index.ts";
