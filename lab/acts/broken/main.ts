import { withAgent } from "../agent-process.ts";
import {
  createTestContext,
  mapConcurrently,
  runSuite,
  startWebhookReceiver,
  type ActsTest,
  type Binding,
  type TestResult,
  type WebhookReceiver,
} from "../../../src/studio/judge/index.ts";
import { choosePass, VALID_TOKEN, type Pass } from "../passes.ts";
import { startBreakingProxy, type ProxyChanges } from "./proxy.ts";
import { BROKEN_SERVERS, type BrokenServer } from "./servers.ts";

/** Number of proxies that are tested at the same time. */
const PROXY_LIMIT = 4;

/**
 * Runs the tests against each broken server, and against the same proxy without a change. A broken server is seen if
 * its test passes without the change, and fails with it. Resolves with the exit code.
 */
export async function runBrokenServers(tests: readonly ActsTest[]): Promise<number> {
  const webhooks = await startWebhookReceiver();
  try {
    const verdicts: boolean[] = [];
    for (const pass of ["default", "auth"] as const)
      await withAgent(pass, async (target) => {
        const servers = BROKEN_SERVERS.filter(({ pass: ownPass = "default" }) => ownPass === pass);
        const run = (binding: Binding, changes: ProxyChanges): Promise<TestResult[]> =>
          runThroughProxy(tests, { target, changes, binding, pass, webhooks });
        const bindings = [...new Set(servers.map(({ binding }) => binding))];
        const controls = await mapConcurrently(bindings, PROXY_LIMIT, async (binding) => ({
          binding,
          passed: listTests(await run(binding, {}), "passed"),
        }));
        const checks = await mapConcurrently(servers, PROXY_LIMIT, async (server) => {
          const passed = controls.find(({ binding }) => binding === server.binding)?.passed ?? [];
          const failed = listTests(await run(server.binding, server), "failed");
          return reportServer(
            server,
            failed.filter((id) => passed.includes(id)),
          );
        });
        verdicts.push(...checks);
      });
    const seen = verdicts.filter(Boolean).length;
    console.log(`${seen} of ${BROKEN_SERVERS.length} broken servers seen`);
    return seen === BROKEN_SERVERS.length ? 0 : 1;
  } finally {
    webhooks.close();
  }
}

function listTests(results: readonly TestResult[], wanted: TestResult["outcome"]): string[] {
  return results.filter(({ outcome }) => outcome === wanted).map(({ test }) => test.id);
}

/** Prints the tests that noticed a broken server. Returns whether the test of the server is among them. */
function reportServer({ name, binding, seenBy }: BrokenServer, noticedBy: readonly string[]): boolean {
  const isSeen = noticedBy.includes(seenBy);
  const others = noticedBy.filter((id) => id !== seenBy);
  const more = others.length === 0 ? "" : `, and by ${others.slice(0, 4).join(", ")}`;
  const rest = others.length > 4 ? `, and ${others.length - 4} more` : "";
  console.log(
    `${isSeen ? "seen by" : "NOT SEEN by"} ${seenBy}${more}${rest}\n    A server ${name} (${binding}).`,
  );
  return isSeen;
}

interface ProxiedRun {
  readonly target: string;
  readonly changes: ProxyChanges;
  readonly binding: Binding;
  readonly pass: Pass;
  readonly webhooks: WebhookReceiver;
}

async function runThroughProxy(
  tests: readonly ActsTest[],
  { target, changes, binding, pass, webhooks }: ProxiedRun,
): Promise<TestResult[]> {
  const proxy = await startBreakingProxy(target, changes);
  try {
    const ofPass = tests.filter((test) => choosePass(test) === pass);
    const server = { baseUrl: proxy.url, token: VALID_TOKEN, behaviors: "all", webhooks } as const;
    return await runSuite(ofPass, await createTestContext(binding, server));
  } finally {
    proxy.close();
  }
}
