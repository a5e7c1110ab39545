-- Types key by key into another Neovim, whose socket is $SOCKET, and measures until its diagnostics change.
-- 784 becomes 8784 and back: each key makes or mends a product that does not fit.
local editor = vim.fn.sockconnect("pipe", vim.env.SOCKET, { rpc = true })
local function lua(code) return vim.fn.rpcrequest(editor, "nvim_exec_lua", code, {}) end

local report = { times = {}, errors = {} }
local function wait_for(count)
  local ok = vim.wait(30000, function() return lua("return #vim.diagnostic.get(0)") == count end, 1)
  if not ok then
    table.insert(report.errors, "no " .. count .. " diagnostics in 30 s")
  end
  return ok
end

if wait_for(0) and vim.wait(30000, function() return lua("return #require('stepzero').clients()") == 1 end, 20) then
  vim.fn.rpcrequest(editor, "nvim_input", "3Gf7i")
  vim.wait(300, function() return false end)
  for round = 1, 12 do
    local appears = round % 2 == 1
    local pressed = vim.loop.hrtime()
    vim.fn.rpcrequest(editor, "nvim_input", appears and "8" or "<BS>")
    if not wait_for(appears and 1 or 0) then
      break
    end
    table.insert(report.times, (vim.loop.hrtime() - pressed) / 1e6)
  end
  vim.fn.rpcrequest(editor, "nvim_input", "<Esc>")
  report.line = lua("return vim.api.nvim_buf_get_lines(0, 2, 3, false)[1]")
end
vim.fn.rpcnotify(editor, "nvim_command", "qall!")
local file = assert(io.open(vim.env.REPORT, "w"))
file:write((vim.json and vim.json.encode or vim.fn.json_encode)(report))
file:close()
vim.cmd("qall!")
