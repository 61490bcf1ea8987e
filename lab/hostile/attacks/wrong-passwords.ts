import { setTimeout } from "node:timers/promises";
import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { createSendMessageBody, sendAttackRequest } from "../attack-requests.ts";
import { ATTACK_CREDENTIALS } from "../attacked-server.ts";

const STRANGERS = 100;
const GUESSES_PER_STRANGER = 10;
/** Credentials of users who log in for the first time during the attack, from other addresses than the strangers. */
const USER_COUNT = 5;
const MAX_LOGIN_MS = 1_000;

const toBasicCredentials = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

export const attack: ServerAttack = defineServerAttack({
  title: "1,000 wrong passwords of strangers, while users log in and files are read",
  setUpServer: async () => {
    const { basic, bearer, hashPassword } = await import("../../../src/server/auth/index.ts");
    const { readFile } = await import("node:fs/promises");
    const { agent } = await import("../../../src/agents/adapters/index.ts");
    const hash = await hashPassword("right");
    const users = Object.fromEntries(Array.from({ length: USER_COUNT }, (_, at) => [`user${at}`, hash]));
    const tokens = { [ATTACK_CREDENTIALS.victim.slice("Bearer ".length)]: "victim" };
    // The probe's agent reads a file, which needs a thread of the pool that password hashes also need.
    const echo = agent({ name: "echo", description: "Reads a file" }, async function* () {
      yield String((await readFile(import.meta.filename)).length);
    });
    return { agents: { echo }, options: { authenticate: [bearer({ tokens }), basic({ users })] } };
  },
  run: async (target) => {
    const body = createSendMessageBody("hello");
    const [userAddress, ...strangerAddresses] = target.attackerAddresses;
    const statuses: number[] = [];
    const guess = async (stranger: number): Promise<void> => {
      const localAddress = strangerAddresses[stranger % Math.max(1, strangerAddresses.length)];
      for (let at = 0; at < GUESSES_PER_STRANGER; at++) {
        const authorization = toBasicCredentials(`user${stranger % 7}`, `guess ${stranger} ${at}`);
        const request = { body, authorization, ...(localAddress === undefined ? {} : { localAddress }) };
        statuses.push((await sendAttackRequest(target, request)).status);
        await setTimeout(200);
      }
    };
    const guesses = Promise.all(Array.from({ length: STRANGERS }, (_, stranger) => guess(stranger)));
    const problems: string[] = [];
    let slowestLoginMs = 0;
    for (let user = 0; user < USER_COUNT; user++) {
      await setTimeout(300);
      const authorization = toBasicCredentials(`user${user}`, "right");
      const request = { body: createSendMessageBody("hello"), authorization };
      const { status, durationMs } = await sendAttackRequest(target, {
        ...request,
        ...(userAddress === undefined ? {} : { localAddress: userAddress }),
      });
      slowestLoginMs = Math.max(slowestLoginMs, durationMs);
      if (status !== 200) problems.push(`a user with the right password received ${status}`);
    }
    await guesses.catch((error: unknown) => {
      // On a slow machine, the attack ends before the last guess.
      if (!target.signal.aborted) throw error;
    });
    if (slowestLoginMs > MAX_LOGIN_MS) problems.push(`a login took ${Math.round(slowestLoginMs)} ms`);
    if (statuses.includes(200)) problems.push("a wrong password was accepted");
    const count = (wanted: number): number => statuses.filter((status) => status === wanted).length;
    return { figures: { slowestLoginMs, checked: count(401), refused: count(429) }, problems };
  },
});
