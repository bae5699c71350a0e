/* oxlint-disable no-undef, no-underscore-dangle -- it runs in Node.js */
// Loaded into Playwright's driver by NODE_OPTIONS. The driver begins with a command that
// Firefox does not know and no test needs; in its place it asks for the status.
const { readFileSync } = require("fs");
const { _extensions: loaders } = require("module");
const load = loaders[".js"];

loaders[".js"] = (module, file) => {
  if (!file.endsWith("coreBundle.js")) return load(module, file);
  const text = readFileSync(file, "utf8");
  const known = text.replaceAll("emulation.setMediaFeaturesOverride", "session.status");
  return module._compile(known, file);
};
