import type { Binding, Corpus } from "./acts/corpus.ts";
import { BINDINGS, createTestContext, runSuite, type ServerUnderTest } from "./acts/run-suite.ts";
import type { TestInfo, TestResult } from "./acts/run-test.ts";
import { BINDING_NAMES, OLDER_VERSION } from "./acts/wire-tables.ts";
import { findAgent, type FoundAgent } from "./find-agent.ts";
import { createTrafficWriter } from "../../observe/trace/recording/index.ts";
import { startTap, type FaultSwitches } from "../tap/index.ts";
import type { TestContext } from "./acts/test-run.ts";
import type { BindingReport } from "./report.ts";
import { createResilienceRules, type ResilienceOptions } from "./rules/resilience-rules.ts";
import { CARD_RULES, CARD_SHAPE_RULES } from "./rules/card-rules.ts";
import { OPERATION_RULES } from "./rules/operation-rules.ts";
import { STREAM_RULES } from "./rules/stream-rules.ts";
import { runRule, type Rule, type SharedSamples } from "./rules/rule.ts";
import { OLDER_RULES, toOlderRule } from "./rules/older-rules.ts";
import { createOlderContext } from "./acts/client-transport.ts";

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
  /** Whether the agent may receive more than a few messages, webhooks, and large requests. Default: false. */
  readonly allowsMore?: boolean | undefined;
  readonly only?: readonly string[] | undefined;
  /** Checks the behavior under faults instead of the protocol, by default only on the first binding of the card. */
  readonly resilience?: ResilienceOptions | undefined;
  /** Called after each test. */
  readonly onResult?: (result: TestResult, report: Omit<BindingReport, "results">) => void;
}

const CARD_SUITE: TestInfo["suite"] = { id: "any-card", name: "Agent card of any agent" };
export const RESILIENCE_SUITE: TestInfo["suite"] = { id: "resilience", name: "Behavior under faults" };
const OLDER_SUITE: TestInfo["suite"] = { id: "any-agent-0.3", name: "Operations of any agent in A2A 0.3" };
const OPERATION_SUITE: TestInfo["suite"] = { id: "any-agent", name: "Operations of any agent" };

/**
 * Checks an agent against A2A 1.0 and, if its card offers it, 0.3. The rules hold whatever the agent answers. The tests
 * of ACTS that need a test agent are not verified, unless `behaviors` names their texts.
 */
export async function judgeConformance(options: ConformanceOptions): Promise<readonly BindingReport[]> {
  const { url, token, corpus, only, message, allowsMore } = options;
  const { baseUrl, interfaces, cardProblem } = await findAgent(url, token);
  const isSelected = ({ id }: { readonly id: string }): boolean => !only || only.includes(id);
  const reports: BindingReport[] = [];
  for (const target of listTargets(interfaces, options)) {
    const { binding, version } = target;
    const isOlder = version === OLDER_VERSION;
    const server: ServerUnderTest = {
      baseUrl,
      token,
      trustedOrigins: options.trustedOrigins,
      behaviors: options.behaviors,
      webhooks: options.webhooks,
      onResult: (result) => options.onResult?.(result, target),
    };
    const open = isOlder ? createOlderContext : createTestContext;
    const context = await open(binding, server);
    const results: TestResult[] = [];
    const shared: SharedSamples = { message, allowsMore, exchanges: [], cardProblem, acceptedCount: 0 };
    const run = async (rules: readonly Rule[], suite: TestInfo["suite"], samples = shared): Promise<void> => {
      for (const rule of rules) {
        if (!isSelected(rule) || rule.bindings?.includes(binding) === false) continue;
        const result = await runRule(rule, suite, context, samples);
        results.push(result);
        server.onResult?.(result);
      }
    };
    if (options.resilience) {
      const { resilience } = options;
      await withTap(context, async (tapUrl, faults) => {
        // The tap forwards to the interface, so that the same trust applies.
        const tapped = { ...(await open(binding, { ...server, baseUrl: tapUrl })), token: context.token };
        const { rules, takeSample } = createResilienceRules({ options: resilience, message, tapped, faults });
        const applicable = isOlder ? rules.flatMap(toOlderRule) : rules;
        await run(applicable, RESILIENCE_SUITE, { ...shared, takeSample });
      });
    } else if (isOlder) await run(OLDER_RULES, OLDER_SUITE);
    else {
      if (reports.length === 0 && (context.transport ?? cardProblem) !== undefined)
        await run(context.card ? CARD_RULES : CARD_SHAPE_RULES, CARD_SUITE);
      if (context.transport) await run([...OPERATION_RULES, ...STREAM_RULES], OPERATION_SUITE);
      results.push(...(await runSuite(corpus.tests.filter(isSelected), context, server.onResult)));
    }
    reports.push({ ...target, results });
  }
  return reports.filter(({ results }) => results.length > 0);
}

/**
 * Returns the bindings and versions to check. A card that cannot be read has one report. A requested binding that the
 * card lacks has a report, too, in which nothing is verified.
 */
function listTargets(
  interfaces: FoundAgent["interfaces"],
  { bindings = BINDINGS, corpus, resilience, bindings: requested }: ConformanceOptions,
): readonly { readonly binding: Binding; readonly version: string }[] {
  const offers = (binding: Binding, version: string): boolean =>
    interfaces.some(
      ({ protocolBinding, protocolVersion }) =>
        protocolBinding === BINDING_NAMES[binding] && protocolVersion.startsWith(version.slice(0, 2)),
    );
  const targets = [corpus.specVersion, OLDER_VERSION].flatMap((version) =>
    bindings.filter((binding) => offers(binding, version)).map((binding) => ({ binding, version })),
  );
  const missing = (requested ?? []).filter(
    (binding) => !targets.some((target) => target.binding === binding),
  );
  const all = [...targets, ...missing.map((binding) => ({ binding, version: corpus.specVersion }))];
  if (interfaces.length === 0) return [{ binding: bindings[0] ?? "jsonrpc", version: corpus.specVersion }];
  return resilience && !requested ? all.slice(0, 1) : all;
}

/** Runs work with the URL of the agent at a tap on this machine, whose faults are off. */
async function withTap(
  { baseUrl }: TestContext,
  work: (url: string, faults: FaultSwitches) => Promise<void>,
): Promise<void> {
  const sink = { write: () => {}, close: () => {} };
  const writer = createTrafficWriter(sink, { vantage: "tap", name: "judge", bodies: false });
  const tap = await startTap({ targets: [{ url: baseUrl }], writer });
  try {
    await work(tap.targets[0]?.url ?? "", tap.faults);
  } finally {
    await Promise.all([tap.close(), writer.close()]);
  }
}
