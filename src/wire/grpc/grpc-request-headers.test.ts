import { expect, it } from "vitest";
import { parseGrpcTimeout } from "./grpc-request-headers.ts";

it("parses each unit of a timeout", () => {
  expect(["2H", "2M", "2S", "2m", "2000u", "2000000n", "1n", "0m"].map(parseGrpcTimeout)).toEqual([
    7_200_000, 120_000, 2_000, 2, 2, 2, 1, 0,
  ]);
});

it("limits an absurd timeout to what a timer supports", () => {
  expect(parseGrpcTimeout("99999999H")).toBe(2 ** 31 - 1);
});

it("does not accept a timeout that gRPC does not define", () => {
  for (const value of ["", "1", "S", "-1S", "1.5S", "123456789S", "1 S", "1s", "1S1S", "٣S", "1S\n"])
    expect(parseGrpcTimeout(value)).toBeUndefined();
});
