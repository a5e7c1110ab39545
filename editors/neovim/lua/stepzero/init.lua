-- require("stepzero").setup() starts the server for every file that it reads, in any Neovim from 0.7 on.
local M = {}

-- What lsp/stepzero.lua says is said once: newer versions of Neovim find that file themselves.
local function defaults()
  local here = debug.getinfo(1, "S").source:sub(2)
  return dofile(vim.fn.fnamemodify(here, ":p:h:h:h") .. "/lsp/stepzero.lua")
end

-- The nearest folder above the file that holds the first marker found; without one, the folder of the file.
local function root_of(path, markers)
  local folder = vim.fn.fnamemodify(path, ":p:h")
  for _, marker in ipairs(markers) do
    local found = vim.fn.findfile(marker, vim.fn.fnameescape(folder) .. ";")
    if found == "" then
      found = vim.fn.finddir(marker, vim.fn.fnameescape(folder) .. ";")
    end
    if found ~= "" then
      return vim.fn.fnamemodify(found, ":p"):gsub("/$", ""):match("^(.*)/[^/]*$")
    end
  end
  return folder
end

-- Neovim 0.7 has no vim.lsp.start: one client for each root folder.
local clients = {}
local function attach(buffer, config)
  if vim.lsp.start then
    vim.api.nvim_buf_call(buffer, function() vim.lsp.start(config) end)
    return
  end
  local id = clients[config.root_dir]
  if not id or not vim.lsp.get_client_by_id(id) or vim.lsp.client_is_stopped(id) then
    id = vim.lsp.start_client(config)
    clients[config.root_dir] = id
  end
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
end

function M.clients()
  local found = {}
  for _, client in ipairs((vim.lsp.get_clients or vim.lsp.get_active_clients)()) do
    if client.name == "stepzero" then
      table.insert(found, client)
    end
  end
  return found
end

-- Both spellings of a client's methods: `client.request(…)` to Neovim 0.10, `client:request(…)` since.
local function request(client, method, params, handler, buffer)
  if vim.fn.has("nvim-0.11") == 1 then
    client:request(method, params, handler, buffer)
  else
    client.request(method, params, handler, buffer)
  end
end

local function show_page(name, lines, folds)
  local buffer = vim.fn.bufnr("^" .. vim.fn.fnameescape(name) .. "$")
  if buffer == -1 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
  end
  vim.api.nvim_buf_set_option(buffer, "modifiable", true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.api.nvim_buf_set_option(buffer, "modifiable", false)
  local window = vim.fn.bufwinid(buffer)
  if window == -1 then
    local here = vim.api.nvim_get_current_win()
    vim.cmd("vertical botright split")
    vim.api.nvim_win_set_buf(0, buffer)
    vim.wo.wrap = false
    vim.api.nvim_set_current_win(here)
    window = vim.fn.bufwinid(buffer)
  end
  -- What can be folded stays open; `zc` folds it.
  vim.api.nvim_win_call(window, function()
    vim.wo.foldmethod = "manual"
    vim.cmd("normal! zE")
    for index = #folds, 1, -1 do
      vim.cmd(("%d,%dfold"):format(folds[index].startLine + 1, folds[index].endLine + 1))
    end
    vim.cmd("normal! zR")
  end)
end

-- Shows beside the code what each rank sends and waits for. `uri`: of the document; that of the current buffer without it.
function M.schedule(uri)
  uri = uri or vim.uri_from_bufnr(0)
  local client = M.clients()[1]
  if not client then
    vim.notify("stepzero is not running here; :checkhealth stepzero tells why", vim.log.levels.WARN)
    return
  end
  local params = { command = "stepzero.schedule", arguments = { { uri = uri } } }
  request(client, "workspace/executeCommand", params, function(problem, answer)
    if problem then
      vim.notify("stepzero: " .. (problem.message or tostring(problem)), vim.log.levels.WARN)
      return
    end
    local text = answer and answer.text ~= "" and answer.text or "Nothing in this file communicates."
    show_page("stepzero://schedule", vim.split(text:gsub("\n$", ""), "\n"), answer and answer.folds or {})
  end, 0)
end

local function ask(client, method, params, buffer, wait)
  local answer
  if vim.fn.has("nvim-0.11") == 1 then
    answer = client:request_sync(method, params, wait, buffer)
  else
    answer = client.request_sync(method, params, wait, buffer)
  end
  return answer and answer.result
end

-- Makes all fixes that are certain, and is done when it returns: for an autocommand before a file is written.
function M.fix_all(wait)
  wait = wait or 2000
  local buffer = vim.api.nvim_get_current_buf()
  for _, client in ipairs(M.clients()) do
    local last = vim.api.nvim_buf_line_count(buffer)
    local actions = ask(client, "textDocument/codeAction", {
      textDocument = { uri = vim.uri_from_bufnr(buffer) },
      range = { start = { line = 0, character = 0 }, ["end"] = { line = last, character = 0 } },
      context = { diagnostics = {}, only = { "source.fixAll.stepzero" } },
    }, buffer, wait)
    for _, action in ipairs(actions or {}) do
      if not action.edit and action.data then
        action = ask(client, "codeAction/resolve", action, buffer, wait) or action
      end
      if action.edit then
        vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding or "utf-16")
      end
    end
  end
end

-- What needs no setup(): plugin/stepzero.lua calls it.
function M.commands()
  vim.api.nvim_create_user_command("StepzeroSchedule", function() M.schedule() end,
    { desc = "Show who communicates what, rank by rank" })
  -- The command of a code lens.
  vim.lsp.commands["stepzero.schedule"] = function(command)
    M.schedule(command.arguments and command.arguments[1] and command.arguments[1].uri)
  end
end

-- Shapes behind the names, where Neovim can show them (0.10 and newer).
local function show_hints(buffer)
  if vim.lsp.inlay_hint and vim.lsp.inlay_hint.enable then
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
  end
end

-- Options: inlay_hints (true unless set), cmd, filetypes, root_markers, settings (the keys of stepzero.toml), and any other field of
-- |vim.lsp.start()|'s configuration, such as on_attach.
function M.setup(options)
  local config = vim.tbl_extend("force", defaults(), { name = "stepzero" }, options or {})
  M.commands()
  M.cmd = config.cmd
  if config.inlay_hints ~= false then
    local on_attach = config.on_attach
    config.on_attach = function(client, buffer)
      show_hints(buffer)
      if on_attach then
        on_attach(client, buffer)
      end
    end
  end
  config.inlay_hints = nil
  if config.settings and not config.settings.stepzero then
    config.settings = { stepzero = config.settings }
  end
  if vim.lsp.config and vim.lsp.enable then
    vim.lsp.config("stepzero", config)
    vim.lsp.enable("stepzero")
    return
  end
  vim.api.nvim_create_autocmd("FileType", {
    group = vim.api.nvim_create_augroup("stepzero", { clear = true }),
    pattern = config.filetypes,
    callback = function(event)
      local path = vim.api.nvim_buf_get_name(event.buf)
      if path == "" or vim.bo[event.buf].buftype ~= "" then
        return
      end
      attach(event.buf, vim.tbl_extend("keep", { root_dir = root_of(path, config.root_markers) }, config))
    end,
  })
end

return M
