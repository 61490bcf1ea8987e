import {
  openAttackSocket,
  createSendMessageBody,
  getAgentPath,
  sendAttackRequest,
} from "../attack-requests.ts";
import { defineServerAttack, type AttackTarget, type ServerAttack } from "../attack.ts";

const TASKS = 1000;
const STREAMS = 100;
const CONCURRENCY = 20;

export const attack: ServerAttack = defineServerAttack({
  title: "one caller starts 1,000 slow tasks and reads 100 streams",
  // The promise of fair shares: another caller's 99th percentile stays within twice the one of an idle server. The
  // probe runs on the same machine as the attacker, so the percentile of an idle server counts at the same time.
  bars: { p99Ratio: 2 },
  run: async (target) => {
    let accepted = 0;
    let refused = 0;
    const problems: string[] = [];
    const startTasks = async (): Promise<void> => {
      while (accepted + refused < TASKS) {
        const { status, headers, body } = await sendAttackRequest(target, {
          path: getAgentPath(target, "slow"),
          authorization: target.credentials.stranger,
          body: createSendMessageBody("work", {}, { returnImmediately: true }),
        });
        if (status === 200 && !body.includes(`"error"`)) accepted++;
        else refused++;
        if (status >= 500) problems.push(`the server replied with ${status}`);
        if (status === 429 && headers["retry-after"] === undefined) problems.push("a 429 has no Retry-After");
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, startTasks));
    for (let count = 0; count < STREAMS; count++) await openStream(target);
    // The other caller sends requests while the tasks and streams run.
    await new Promise((resolve) => setTimeout(resolve, 4000));
    return { figures: { accepted, refused, streams: STREAMS }, problems };
  },
});

/** Opens a stream and reads what arrives. */
async function openStream(target: AttackTarget): Promise<void> {
  const socket = await openAttackSocket(target);
  const body = JSON.stringify({ ...createSendMessageBody("write"), method: "SendStreamingMessage" });
  socket.write(
    `POST ${getAgentPath(target, "stream")} HTTP/1.1\r\nhost: ${target.host}:${target.port}\r\n` +
      `content-type: application/json\r\na2a-version: 1.0\r\nauthorization: ${target.credentials.stranger}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  socket.resume();
}
