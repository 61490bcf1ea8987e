/**
 * Judges A2A servers. `acts/` runs ACTS, the A2A Conformance Test Suite. `rules/` checks any agent, whatever it answers.
 * `judgeConformance` runs both. `doctor/` examines deployments, and has the runner of the checks of projects.
 */
export {
  CorpusError,
  loadCorpus,
  type ActsTest,
  type Binding,
  type Corpus,
  type Level,
} from "./acts/corpus.ts";
export {
  BINDINGS,
  createTestContext,
  mapConcurrently,
  runSuite,
  type ServerUnderTest,
} from "./acts/run-suite.ts";
export type { TestResult } from "./acts/run-test.ts";
export { startWebhookReceiver, type WebhookReceiver } from "./acts/webhook-receiver.ts";
export {
  count,
  createJsonReport,
  findUnexpected,
  findUnknownExceptions,
  type BindingReport,
  type ExpectedException,
  type Tally,
} from "./report.ts";
export { fail, NotVerified } from "./acts/test-run.ts";
export { runChecks, warn, type Check, type CheckGroup, type Diagnosis } from "./doctor/check.ts";
export { classifyHost } from "./doctor/classify-host.ts";
export { examineDeployment } from "./doctor/examine-deployment.ts";
export { judgeConformance, RESILIENCE_SUITE, type ConformanceOptions } from "./conformance.ts";
export {
  formatBinding,
  listFindings,
  listProblems,
  renderBadge,
  renderMarkdown,
  renderSarif,
  type JudgedRun,
} from "./render-report.ts";
export { defineRules } from "./rules/rule.ts";
export { LEVELS } from "./report.ts";
export type { ResilienceOptions } from "./rules/resilience-rules.ts";
