/**
 * Message cards that controllers, planners, and solvers exchange. This folder contains the message card
 * format and its encoding in A2A, recordings of experiment runs, statistics, and views.
 *
 * This glossary and the glossary of `protocol/` define the terms of this folder.
 * - card: a message card, which is a message between two roles. An agent card describes an agent.
 * - role: a sender or recipient of message cards, such as the controller, the planner, or the solver.
 * - reply: the result card or error card that ends a task. A notice is an error card that replies to no other
 *   message card.
 * - problem: the input that a controller receives. In datasets, message cards, and options, names use the
 *   word sample instead of problem.
 * - run: an experiment in which one method solves the problems of a dataset. In the folder `engine/`, a run
 *   is one turn of an agent.
 * - turn: one decision of the planner's model. An attempt is one execution of a subtask.
 * - call: a call to a language model. Exactly one message card reports the token usage of each model call.
 * - record: the lines of a run's record file. A recording is a decoded record file.
 * - evidence: the source of the answers in a run, which is a model, an oracle, or a simulation.
 * - relay: to forward the message cards of a task to the role that sent the task.
 * - specification: the original specification of message cards. Names that contain the word specification
 *   follow the original specification of message cards.
 */

// Message cards: creation, parsing, and custom types and roles.
export * from "./public.ts";
export {
  type CardTokenUsage,
  type CoreCardErrorType,
  type CoreRole,
  type ErrorCardMetadata,
  type ResultCardStatus,
  type CardRoute,
} from "./message-card/index.ts";

// Encoding of cards in A2A, for agents that are served or called without `colloquy/cards`.
export { MESSAGE_CARD_MEDIA_TYPE, findCardInParts, supportsMessageCards } from "./a2a/index.ts";

// Recordings of runs: reading, and the interface for roles.
export {
  type AnswerSourceKind,
  type CardA2ARequestInfo,
  type CardRecordInput,
  createRecordingFromCards,
  decodeRecordLine,
  findLineCards,
  formatCardListFileName,
  listCardJson,
  listCardsInSpecificationFormat,
  type ModelCallRecordInput,
  RecordingBuilder,
  type RunEndLine,
  type RunLine,
  type ScoreLine,
  type SkipLine,
  type TornLine,
} from "./recording/index.ts";

// Statistics of a run, and comparisons of runs.
export {
  type BaselineComparison,
  type RunFindingKind,
  RUN_FINDING_KINDS,
  computeWilsonInterval,
} from "./statistics/index.ts";

// Views of cards.

// Datasets, scoring of answers, and solvers without a model.
export {
  mergeSocraticSteps,
  type Paragraph,
  decodeQuestions,
  GSM8K_ANSWER_MODELS,
  type Gsm8kAnswerModel,
  type Gsm8kModelAnswers,
  type DatasetSample,
  type SupportingFact,
} from "./datasets/index.ts";
export { ANSWER_SCORERS, type AnswerScorer, normalizeAnswer, scoreSupportingFacts } from "./scoring/index.ts";
export { evaluateArithmetic } from "./oracle/index.ts";

// Used by other folders only. No package entry exports these names.
export {
  findCardInCancelMetadata,
  type CardRelayAndTraceMetadata,
  decodeCardRelayAndTraceMetadata,
  isTraceparent,
  MAX_PROBLEM_FORWARDS,
  createChildTraceparent,
  encodeCardInCancelMetadata,
  encodeCardRelayAndTraceMetadata,
} from "./a2a/index.ts";
export {
  batchPlanSteps,
  getLastOraclePlanStepAnswer,
  createOraclePlan,
  type OraclePlanStep,
  formatNumberWithoutExponent,
} from "./oracle/index.ts";
export { tokenizeWords } from "./retrieval/index.ts";
export {
  type AnswerForm,
  extractAnswer,
  findLastNumber,
  getAnswerForm,
  isPlaceholderText,
  removeThinking,
} from "./scoring/index.ts";
export {
  addTokenCounts,
  analyzeSample,
  type AnalyzedSample,
  computeMean,
  computeTokenPrice,
  convertUsageToTokenCounts,
  computeRunFigures,
  countBy,
  createSeededRandom,
  findCardTokenTotal,
  getScoreOutcome,
  type RunFigures,
  sumBy,
  summarizeTokens,
  sumUsageTokens,
  type TokenCounts,
  type TokenSummary,
} from "./statistics/index.ts";
export {
  buildDelegatedTaskForest,
  escapeControlCharacters,
  fitToColumns,
  flattenDelegations,
  formatCardMetadataValue,
  getCardTypeClass,
  measureColumns,
  toSingleLine,
  truncateLine,
} from "./views/index.ts";
