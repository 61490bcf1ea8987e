import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { createSendMessageBody, getAgentPath, sendAttackRequest } from "../attack-requests.ts";

const MAX_BODY_LENGTH = 10_000_000;

/** Repeats an item as often as a body of 10 MB allows. */
function repeatItem(item: string, separator = ","): string {
  const count = Math.floor(MAX_BODY_LENGTH / (item.length + separator.length)) - 100;
  return Array.from({ length: count }, () => item).join(separator);
}

export const attack: ServerAttack = defineServerAttack({
  title: "messages of 10 MB with 400,000 parts, millions of values, and deep nesting",
  run: async (target) => {
    const insert = (text: string): string =>
      JSON.stringify(createSendMessageBody("hello")).replace(`"parts":[`, text);
    const bodies = [
      insert(`"parts":[${repeatItem(`{"text":"aaaaaaaa"}`)},`),
      insert(`"metadata":{"values":[${repeatItem("{}")}]},"parts":[`),
      insert(`"metadata":{"values":[${repeatItem("0")}]},"parts":[`),
      insert(`"metadata":{"values":${"[".repeat(2_000_000)}${"]".repeat(2_000_000)}},"parts":[`),
      insert(`"extensions":[${repeatItem(`"e"`)}],"parts":[`),
      insert(`"text":"${repeatItem(`\\"`, "")}","parts":[`),
    ];
    const authorization = target.credentials.stranger;
    const statuses: number[] = [];
    for (const body of bodies) {
      statuses.push((await sendAttackRequest(target, { body, authorization })).status);
      const { params } = { params: body.slice(body.indexOf(`"params":`) + `"params":`.length, -1) };
      const path = `${getAgentPath(target, "echo")}/message:send`;
      statuses.push((await sendAttackRequest(target, { path, body: params, authorization })).status);
    }
    const failures = statuses.filter((status) => status >= 500);
    return {
      figures: {
        requests: statuses.length,
        refusedBeforeParsing: statuses.filter((status) => status === 413).length,
      },
      problems: failures.map((status) => `the server replied with ${status}`),
    };
  },
});
