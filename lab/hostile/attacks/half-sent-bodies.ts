import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { getAgentPath, openAttackSocket } from "../attack-requests.ts";

const SOCKETS = 1000;
const BODY_BYTES = 10 * 2 ** 20;

export const attack: ServerAttack = defineServerAttack({
  title: "1,000 sockets send 1 MB of a body of 10 MB, and then nothing",
  run: async (target) => {
    const head =
      `POST ${getAgentPath(target, "echo")} HTTP/1.1\r\nhost: ${target.host}\r\na2a-version: 1.0\r\n` +
      `authorization: ${target.credentials.stranger}\r\ncontent-type: application/json\r\n` +
      `content-length: ${BODY_BYTES}\r\n\r\n`;
    const part = Buffer.alloc(2 ** 20, "x");
    let sentParts = 0;
    let refusals = 0;
    for (let count = 0; count < SOCKETS; count++) {
      const socket = await openAttackSocket(target);
      socket.on("data", (text: Buffer) => {
        if (text.includes("429")) refusals++;
      });
      socket.write(head);
      socket.write(part, (error) => {
        if (!error) sentParts++;
      });
      // The server must not need to keep up with all bodies at once.
      if (count % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await new Promise((resolve) => setTimeout(resolve, 3000));
    return { figures: { sentParts, refusals } };
  },
});
