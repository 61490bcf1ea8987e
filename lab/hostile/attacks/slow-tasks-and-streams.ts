import { request as sendHttpRequest } from "node:http";
import { setTimeout } from "node:timers/promises";
import { defineServerAttack, type AttackTarget, type ServerAttack } from "../attack.ts";
import { createSendMessageBody, getAgentPath, sendAttackRequest } from "../attack-requests.ts";

const SLOW_TASKS = 1_000;
const STREAMS = 100;
/** Connections that send the slow tasks at the same time. */
const SENDERS = 20;

/** Opens a stream of the agent `slow`, and reads it until the end of the attack. */
function openStream(target: AttackTarget): void {
  const outgoing = sendHttpRequest({
    host: target.host,
    port: target.port,
    method: "POST",
    path: getAgentPath(target, "slow"),
    agent: false,
    headers: {
      "content-type": "application/json",
      "a2a-version": "1.0",
      authorization: target.credentials.stranger,
    },
  });
  outgoing.on("error", () => {}).on("response", (incoming) => incoming.resume());
  outgoing.end(JSON.stringify({ ...createSendMessageBody("go"), method: "SendStreamingMessage" }));
}

export const attack: ServerAttack = defineServerAttack({
  title: "one caller runs 1,000 slow tasks and 100 streams",
  // The promise of fair shares: the 99th percentile of another caller stays within twice the one without the attack.
  bars: { p99Ratio: 2 },
  // The probe asks the same agent, so that it competes for the same limit on agent runs.
  probe: {
    method: "POST",
    path: "/a2a/slow",
    headers: {
      "content-type": "application/json",
      "a2a-version": "1.0",
      authorization: "Bearer victim-token-0123456789",
    },
    body: `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"MESSAGE-ID","role":"ROLE_USER","parts":[{"text":"quick"}]}}}`,
  },
  run: async (target) => {
    for (let at = 0; at < STREAMS; at++) openStream(target);
    const path = getAgentPath(target, "slow");
    const statuses: number[] = [];
    let sent = 0;
    const sendTasks = async (): Promise<void> => {
      while (sent++ < SLOW_TASKS) {
        const body = createSendMessageBody("slow", {}, { returnImmediately: true });
        const { status } = await sendAttackRequest(target, {
          path,
          body,
          authorization: target.credentials.stranger,
        });
        statuses.push(status);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sendTasks));
    await setTimeout(3_000);
    const count = (wanted: number): number => statuses.filter((status) => status === wanted).length;
    return { figures: { acceptedTasks: count(200), refusedTasks: count(429) } };
  },
});
