-- The commands, once the folder is in 'runtimepath'. The server itself is started by vim.lsp.enable() or setup().
require("stepzero").commands()
