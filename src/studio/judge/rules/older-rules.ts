import { MISSING, readPath } from "../acts/expressions.ts";
import { fail } from "../acts/test-run.ts";
import { OPERATION_RULES, sendEnvelope } from "./operation-rules.ts";
import { defineRules, MISSING_TASK_ERROR, UNKNOWN_TASK, type Rule } from "./rule.ts";
import { STREAM_RULES } from "./stream-rules.ts";

const STATES =
  /^(submitted|working|input-required|completed|canceled|failed|rejected|auth-required|unknown)$/;

/** Sections of A2A 0.3 for the rules of 1.0 that also hold in 0.3. */
const OLDER_SECTIONS: Readonly<Record<string, string>> = {
  "ANY-SEND-SHAPE": "7.1",
  "ANY-SEND-CONTEXT": "6.1",
  "ANY-SEND-ROLE": "6.4",
  "ANY-GET-SAME": "7.3",
  "ANY-SEND-MISSING-TASK": "8.2",
  "ANY-CANCEL-TERMINAL": "8.2",
  "ANY-STREAM-SHAPE": "7.2",
  "ANY-STREAM-END": "7.2",
  "ANY-STREAM-ORDER": "7.2",
  "ANY-STREAM-STORED": "7.2",
};

/** Servers should use the errors of section 8.2. */
function toOlderLevel(section: string): Pick<Rule, "section" | "level"> {
  return { section, level: section === "8.2" ? "should" : "must" };
}

/** A2A 0.3 leaves most of the behavior under faults undefined. Without the wire format of 1.0, some rules are left. */
export function toOlderRule(rule: Rule): Rule[] {
  if (rule.isNewer) return [];
  return [
    rule.id.startsWith("RES-CANCEL")
      ? { ...rule, section: "7.4" }
      : { ...rule, section: undefined, level: "may" },
  ];
}

/** Rules of A2A 0.3. Those of JSON-RPC check the wire format directly. */
export const OLDER_RULES: readonly Rule[] = [
  ...defineRules({
    async "V03-SEND"(probe) {
      const { message } = probe.createMessage() as { message: { parts: { text: string }[] } };
      const parts = message.parts.map(({ text }) => ({ kind: "text", text }));
      const params = { message: { kind: "message", messageId: crypto.randomUUID(), role: "user", parts } };
      const { body } = await sendEnvelope(probe, { jsonrpc: "2.0", id: 1, method: "message/send", params });
      const result = readPath(body, "result");
      const kind = readPath(result, "kind");
      if (kind !== "task" && kind !== "message") fail(`The result has the kind ${JSON.stringify(kind)}.`);
      const state = readPath(result, "status.state");
      if (kind === "task" && !STATES.test(String(state))) fail(`The task has the state ${String(state)}.`);
    },
  }),
  ...[...OPERATION_RULES, ...STREAM_RULES].flatMap((rule): Rule[] => {
    const section = OLDER_SECTIONS[rule.id];
    return section === undefined
      ? []
      : [{ ...rule, ...toOlderLevel(section), id: rule.id.replace("ANY", "V03") }];
  }),
  ...defineRules({
    async "V03-TASK-MISSING"({ expectError }) {
      await expectError("get_task", { id: UNKNOWN_TASK }, MISSING_TASK_ERROR);
      await expectError("cancel_task", { id: UNKNOWN_TASK }, MISSING_TASK_ERROR);
    },
    async "V03-RPC-CODES"(probe) {
      const cases = [
        ["tasks/get", { id: UNKNOWN_TASK }, -32_001],
        ["judge/unknown", {}, -32_601],
        ["message/send", {}, -32_602],
      ] as const;
      for (const [method, params, code] of cases) {
        const { body } = await sendEnvelope(probe, { jsonrpc: "2.0", id: 1, method, params });
        const found = readPath(body, "error.code");
        if (found !== code)
          fail(
            `The error of ${method} has the code ${found === MISSING ? "(none)" : JSON.stringify(found)}, not ${code}.`,
          );
      }
    },
  }),
];
