-- The program of an active Python environment (pip install stepzero) comes before the one on the PATH.
local function program()
  for _, variable in ipairs({ "VIRTUAL_ENV", "CONDA_PREFIX" }) do
    local file = (vim.env[variable] or "") .. "/bin/stepzero"
    if vim.env[variable] and vim.fn.executable(file) == 1 then
      return file
    end
  end
  return "stepzero"
end

-- Neovim 0.12 answers a refresh by asking for the whole workspace, and keeps nothing of that answer for the files that are open: their
-- findings would stay as they were when another file, say a configuration, changes what is wrong in them. Ask for each.
local function refresh(problem, result, context)
  local client = not problem and vim.lsp.get_client_by_id(context.client_id)
  if not client then
    return vim.NIL
  end
  local name = client.server_capabilities.diagnosticProvider.identifier
  for buffer in pairs(client.attached_buffers) do
    client:request("textDocument/diagnostic", { identifier = name, textDocument = { uri = vim.uri_from_bufnr(buffer) } }, nil, buffer)
  end
  -- The others matter only to who asked for them once.
  for _, found in ipairs(vim.diagnostic.get(nil, { namespace = vim.lsp.diagnostic.get_namespace(client.id, true, name) })) do
    if not client.attached_buffers[found.bufnr] then
      return vim.lsp.handlers["workspace/diagnostic/refresh"](problem, result, context)
    end
  end
  return vim.NIL
end

-- Neovim 0.11 and newer: with this folder in 'runtimepath', `vim.lsp.enable("stepzero")`.
return {
  cmd = { program(), "lsp" },
  filetypes = { "python", "json", "jsonc", "yaml", "sh", "bash", "make", "dockerfile" },
  handlers = vim.fn.has("nvim-0.12") == 1 and { ["workspace/diagnostic/refresh"] = refresh } or nil,
  root_markers = { "stepzero.toml", "pyproject.toml", "setup.py", ".git" },
}
