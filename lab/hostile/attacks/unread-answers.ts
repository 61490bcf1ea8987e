import { defineServerAttack, type ServerAttack } from "../attack.ts";
import {
  createSendMessageBody,
  getAgentPath,
  openAttackSocket,
  sendAttackRequest,
} from "../attack-requests.ts";

const SOCKETS = 120;
let taskId = "";

export const attack: ServerAttack = defineServerAttack({
  title: "120 sockets ask for a task of 9.5 MB and never read the answer",
  prepare: async (target) => {
    const { body } = await sendAttackRequest(target, {
      path: getAgentPath(target, "large"),
      authorization: target.credentials.stranger,
      body: createSendMessageBody("9500000"),
    });
    taskId = (JSON.parse(body) as { result: { task: { id: string } } }).result.task.id;
  },
  run: async (target) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: taskId } });
    const request =
      `POST ${getAgentPath(target, "large")} HTTP/1.1\r\nhost: ${target.host}\r\na2a-version: 1.0\r\n` +
      `authorization: ${target.credentials.stranger}\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`;
    for (let count = 0; count < SOCKETS; count++) {
      const socket = await openAttackSocket(target);
      socket.pause();
      socket.write(request);
    }
    await new Promise((resolve) => setTimeout(resolve, 5000));
    return { figures: { sockets: SOCKETS } };
  },
});
