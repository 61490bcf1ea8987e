import type { Binding, Corpus } from "./acts/corpus.ts";
import { BINDINGS, createTestContext, runSuite, type ServerUnderTest } from "./acts/run-suite.ts";
import type { TestInfo, TestResult } from "./acts/run-test.ts";
import { BINDING_NAMES } from "./acts/wire-tables.ts";
import { findAgent } from "./find-agent.ts";
import { createTrafficWriter } from "../../observe/trace/recording/index.ts";
import { startTap, type FaultSwitches } from "../tap/index.ts";
import type { TestContext } from "./acts/test-run.ts";
import type { BindingReport } from "./report.ts";
import { createResilienceRules, type ResilienceOptions } from "./rules/resilience-rules.ts";
import { CARD_RULES, CARD_SHAPE_RULE } from "./rules/card-rules.ts";
import { OPERATION_RULES } from "./rules/operation-rules.ts";
import { STREAM_RULES } from "./rules/stream-rules.ts";
import { runRule, type Rule, type SharedSamples } from "./rules/rule.ts";
import { runOlderRules } from "./rules/older-rules.ts";

/** Options of `judgeConformance`. */
export interface ConformanceOptions {
  /** URL of the agent or of its card. */
  readonly url: string;
  readonly corpus: Corpus;
  /** Bindings to check. Default: the bindings that the card declares. */
  readonly bindings?: readonly Binding[] | undefined;
  /** Bearer token for all requests. */
  readonly token?: string | undefined;
  readonly trustedOrigins?: ServerUnderTest["trustedOrigins"];
  /** Texts of ACTS that the agent understands. Default: none, and tests that need them are not verified. */
  readonly behaviors?: ServerUnderTest["behaviors"];
  readonly webhooks?: ServerUnderTest["webhooks"];
  /** Text of the message that the agent receives. */
  readonly message: string;
  readonly only?: readonly string[] | undefined;
  /** Checks the behavior under faults instead of the protocol, by default only on the first binding of the card. */
  readonly resilience?: ResilienceOptions | undefined;
  /** Called after each test. */
  readonly onResult?: (result: TestResult, report: Omit<BindingReport, "results">) => void;
}

const CARD_SUITE: TestInfo["suite"] = { id: "any-card", name: "Agent card of any agent" };
export const RESILIENCE_SUITE: TestInfo["suite"] = { id: "resilience", name: "Behavior under faults" };
const OPERATION_SUITE: TestInfo["suite"] = { id: "any-agent", name: "Operations of any agent" };

/**
 * Checks an agent against A2A 1.0 and, if its card offers it, 0.3. The rules hold whatever the agent answers. The tests
 * of ACTS that need a test agent are not verified, unless `behaviors` names their texts.
 */
export async function judgeConformance(options: ConformanceOptions): Promise<readonly BindingReport[]> {
  const { url, token, corpus, only } = options;
  const { baseUrl, interfaces: offered, cardProblem } = await findAgent(url, token);
  const isSelected = ({ id }: { readonly id: string }): boolean => !only || only.includes(id);
  const reports: BindingReport[] = [];
  for (const binding of BINDINGS) {
    if (options.bindings && !options.bindings.includes(binding)) continue;
    const names = offered.filter(({ protocolBinding }) => BINDING_OF_NAME.get(protocolBinding) === binding);
    // A card that cannot be read has one report.
    const isOffered =
      cardProblem === undefined
        ? names.some(({ protocolVersion }) => protocolVersion.startsWith("1."))
        : reports.length === 0;
    if (!options.bindings && !isOffered) continue;
    const report = { binding, version: corpus.specVersion };
    const server: ServerUnderTest = {
      baseUrl,
      token,
      trustedOrigins: options.trustedOrigins,
      behaviors: options.behaviors,
      webhooks: options.webhooks,
      onResult: (result) => options.onResult?.(result, report),
    };
    const context = await createTestContext(binding, corpus.specVersion, server);
    const results: TestResult[] = [];
    const { message } = options;
    const run = async (
      rules: readonly Rule[],
      suite: TestInfo["suite"],
      shared: SharedSamples,
    ): Promise<void> => {
      for (const rule of rules) {
        if (!isSelected(rule) || rule.bindings?.includes(binding) === false) continue;
        const result = await runRule(rule, suite, context, shared);
        results.push(result);
        server.onResult?.(result);
      }
    };
    if (options.resilience) {
      if (!context.transport) continue;
      await withTap(context, server, async (tapped, faults) => {
        const tools = { options: options.resilience ?? {}, message, tapped, faults };
        const { rules, takeSample } = createResilienceRules(tools);
        const { allowsMore } = tools.options;
        await run(rules, RESILIENCE_SUITE, { message, exchanges: [], takeSample, allowsMore });
      });
      reports.push({ ...report, results });
      if (!options.bindings) break;
      continue;
    }
    const shared: SharedSamples = { message, exchanges: [], cardProblem };
    if (reports.length === 0 && (context.transport ?? cardProblem) !== undefined)
      await run(context.card ? CARD_RULES : [CARD_SHAPE_RULE], CARD_SUITE, shared);
    if (context.transport) await run([...OPERATION_RULES, ...STREAM_RULES], OPERATION_SUITE, shared);
    results.push(...(await runSuite(corpus, corpus.tests.filter(isSelected), binding, server)));
    reports.push({ ...report, results });
  }
  const older = options.resilience
    ? []
    : offered.filter(({ protocolVersion }) => protocolVersion.startsWith("0."));
  for (const { protocolBinding } of older) {
    const binding = BINDING_OF_NAME.get(protocolBinding);
    if (!binding || (options.bindings && !options.bindings.includes(binding))) continue;
    const report = { binding, version: "0.3" };
    if (reports.some((other) => other.binding === binding && other.version === "0.3")) continue;
    const onResult = (result: TestResult): void => options.onResult?.(result, report);
    const results = await runOlderRules({ ...options, binding, isSelected, onResult });
    reports.push({ ...report, results });
  }
  return reports.filter(({ results }) => results.length > 0);
}

/** Runs work with the agent through a tap on this machine, whose faults are off. */
async function withTap(
  context: TestContext,
  server: ServerUnderTest,
  work: (tapped: TestContext, faults: FaultSwitches) => Promise<void>,
): Promise<void> {
  const sink = { write: () => {}, close: () => {} };
  const writer = createTrafficWriter(sink, { vantage: "tap", name: "judge", bodies: false });
  const tap = await startTap({ targets: [{ url: context.baseUrl }], writer });
  try {
    const tapped = { ...server, baseUrl: tap.targets[0]?.url ?? "" };
    const { binding, specVersion, token } = context;
    // The tap forwards to the interface, so that the same trust applies.
    await work({ ...(await createTestContext(binding, specVersion, tapped)), token }, tap.faults);
  } finally {
    await Promise.all([tap.close(), writer.close()]);
  }
}

const BINDING_OF_NAME: ReadonlyMap<string, Binding> = new Map(
  BINDINGS.map((binding) => [BINDING_NAMES[binding], binding]),
);
