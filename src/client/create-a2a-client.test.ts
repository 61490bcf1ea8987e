import { expect, it } from "vitest";
import { assertKnownTaskOptions } from "./create-a2a-client.ts";

it("unknown options of the task operations are refused with a suggestion", () => {
  expect(() => assertKnownTaskOptions.get({ historyLenght: 1 })).toThrow(
    /^tasks\.get has no option "historyLenght"\..*historyLength/s,
  );
  expect(() => assertKnownTaskOptions.subscribe({ afer: 1 })).toThrow(/"afer".*after/);
  expect(() => assertKnownTaskOptions.listPushConfigs({ pagesize: 1 })).toThrow(/"pagesize".*pageSize/);
  expect(() => assertKnownTaskOptions.cancel({ metadata: {}, headers: {} })).not.toThrow();
});
