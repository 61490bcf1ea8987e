/**
 * Parsers for GSM8K and HotpotQA dataset files. The caller reads the dataset files. The parsers return the
 * problems of a dataset, each with an ID. The package includes 20 GSM8K problems. HotpotQA problems are not
 * included, because their license is CC BY-SA.
 */
export * from "./dataset-sample.ts";
export * from "./gsm8k.ts";
export * from "./questions.ts";
